import { expect, test } from "vitest";
import {
  configurationOf,
  epochOf,
  parseConf,
  parseConnections,
  parseCons,
  parseLocalSessions,
  propertiesOf,
  settingsOf,
} from "./server-answers.ts";

const LIMITS = { tickMs: 2000, timeoutMsMin: 4000, timeoutMsMax: 40_000, connectionsPerAddressMax: 60 };

test("the answer to conf is read, and that of a server without the word is none", () => {
  const text =
    "clientPort=2181\nsecureClientPort=-1\ndataDir=/data/version-2\ntickTime=2000\nmaxClientCnxns=60\n" +
    "minSessionTimeout=4000\nmaxSessionTimeout=40000\nserverId=3\ninitLimit=10\n";
  expect(parseConf(text)).toEqual({ sid: 3, clientPort: 2181, limits: LIMITS });
  expect(parseConf("conf is not executed because it is not in the whitelist.\n")).toBeUndefined();
});

test("the admin server's configuration is read", () => {
  const fields = { client_port: 2181, tick_time: 2000, max_client_cnxns: 60, server_id: 3, command: "configuration" };
  const all = { ...fields, min_session_timeout: 4000, max_session_timeout: 40_000 };
  expect(configurationOf(all)).toEqual({ sid: 3, clientPort: 2181, limits: LIMITS });
  expect(configurationOf(fields)).toEqual({ sid: 3, clientPort: 2181, limits: undefined });
});

test("zoo.cfg and properties are read where the admin server has them", () => {
  expect(settingsOf({ initial_configuration: "tickTime=2000\n#x\na = b\\\n c\n" })).toEqual([
    { key: "tickTime", value: "2000" },
    { key: "a", value: "bc" },
  ]);
  expect(settingsOf({ error: "no such command" })).toBeUndefined();
  expect(propertiesOf({ "java.version": "17", "zookeeper.a": "b", number: 1 })?.get("zookeeper.a")).toBe("b");
  expect(propertiesOf({ command: "system_properties", error: "no such command" })).toBeUndefined();
});

test("ids of sessions keep all their bits", () => {
  const text =
    '{"connections" : [ {"remote_socket_address" : "10.0.0.1:4000", "session_id" : 72057594037927937, "session_timeout" : 5000},' +
    '{"remote_socket_address":"10.0.0.2:1"} ], "secure_connections":[{"session_id":-72057594037927937,"session_timeout":6000}],' +
    '"command" : "connections","error" : null}';
  expect(parseConnections(text)).toEqual([
    { id: 0x0100_0000_0000_0001n, address: "10.0.0.1:4000", timeoutMs: 5000 },
    { id: -0x0100_0000_0000_0001n, address: "an unknown address", timeoutMs: 6000 },
  ]);
  expect(parseConnections('{"command":"connections","error":"not serving"}')).toBeUndefined();
  expect(parseConnections("<html>")).toBeUndefined();
});

test("lines of cons are read, those without a session are passed over", () => {
  const text =
    " /127.0.0.1:41234[1](queued=0,recved=4,sent=4,sid=0xff00000000000001,lop=PING,est=1,to=30000,lcxid=0x0)\n" +
    " /[0:0:0:0:0:0:0:1]:5000[0](queued=0,recved=1,sent=0)\n\n";
  expect(parseCons(text)).toEqual([
    { id: BigInt.asIntN(64, 0xff00_0000_0000_0001n), address: "127.0.0.1:41234", timeoutMs: 30_000 },
  ]);
  expect(parseCons("cons is not executed because it is not in the whitelist.\n")).toBeUndefined();
});

test("numbers of mntr and srvr are read", () => {
  expect(parseLocalSessions("zk_version\t3.9.5\nzk_local_sessions\t2\n")).toBe(2);
  expect(parseLocalSessions("mntr is not executed because it is not in the whitelist.\n")).toBeUndefined();
  expect(epochOf("0x1f00000005")).toBe(0x1f);
  expect(epochOf("0xffffffffffffffff")).toBe(2 ** 32 - 1);
  expect(epochOf("x")).toBeUndefined();
});
