import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "@zooid/embedded-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PreparedContainer, prepareContainer } from "./prepare-container.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "container-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function prepare(variables: Readonly<Record<string, string>> = {}): PreparedContainer {
  const directories = {
    ZOO_CONF_DIR: join(root, "conf"),
    ZOO_DATA_DIR: join(root, "data"),
    ZOO_DATA_LOG_DIR: join(root, "datalog"),
    ZOO_LOG_DIR: join(root, "logs"),
  };
  return prepareContainer({ ...directories, ...variables }, "zk-0");
}

const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), "utf8");

test("zoo.cfg and myid are written where they are missing, for this user alone", () => {
  const { argv } = prepare({ ZOO_MY_ID: "3", ZOO_TICK_TIME: "1500", ZOO_LOG_LEVEL: "warn" });
  expect(argv).toEqual([join(root, "conf/zoo.cfg"), "--log-level", "warn"]);
  expect(read("data", "myid")).toBe("3\n");
  expect(read("conf", "zoo.cfg")).toContain("tickTime=1500\n");
  expect(statSync(join(root, "conf/zoo.cfg")).mode & 0o777).toBe(0o600);
});

test("the flags for Java of each image are read: Confluent's are in KAFKA_OPTS", () => {
  const flags = { KAFKA_OPTS: "-Djava.security.auth.login.config=/j", JVMFLAGS: "-Dzookeeper.maxCnxns=7" };
  expect(prepare(flags).jvmFlags).toEqual(flags);
});

test("a generated zoo.cfg is renewed, with its secrets, and it is reported which settings changed", () => {
  prepare({ ZOO_MY_ID: "3", ZOO_TICK_TIME: "1500", ZOOID_PEER_SECRET: "a:b" });
  const environment = { ZOO_MY_ID: "3", ZOO_TICK_TIME: "1000", ZOOID_PEER_SECRET: "c:d", ZOO_INIT_LIMIT: "7" };
  const { notes, warnings } = prepare(environment);
  expect([read("conf", "zoo.cfg").includes("tickTime=1000\n"), read("conf", "peer.secret")]).toEqual([true, "c:d\n"]);
  expect(notes).toEqual([`wrote ${join(root, "conf/zoo.cfg")} from the environment; changed: initLimit, tickTime`]);
  expect(warnings).toEqual([]);
  expect(prepare(environment).notes).toEqual([]);
});

test("a file is replaced as a whole, so that a crash leaves no half list of servers", () => {
  prepare({ ZOO_MY_ID: "3", ZOO_TICK_TIME: "1500" });
  linkSync(join(root, "conf/zoo.cfg"), join(root, "before"));
  prepare({ ZOO_MY_ID: "3", ZOO_TICK_TIME: "1000" });
  expect([read("before").includes("tickTime=1500\n"), read("conf", "zoo.cfg").includes("tickTime=1000\n")]).toEqual([
    true,
    true,
  ]);
  expect(readdirSync(join(root, "conf"))).toEqual(["zoo.cfg"]);
});

test("a zoo.cfg that was changed since, and one that was never generated, stay, and it is reported which variables have no effect", () => {
  prepare({ ZOO_MY_ID: "3", ZOO_TICK_TIME: "1500" });
  const generated = read("conf", "zoo.cfg");
  const unmarked = generated.slice(generated.indexOf("\n") + 1);
  for (const text of [`${generated}syncLimit=9\n`, unmarked]) {
    writeFileSync(join(root, "conf/zoo.cfg"), text);
    const { notes, warnings } = prepare({ ZOO_TICK_TIME: "1000" });
    expect([read("data", "myid"), read("conf", "zoo.cfg"), notes]).toEqual(["3\n", text, []]);
    expect(warnings.filter((one) => one.includes("ZOO_TICK_TIME"))).toHaveLength(1);
    expect(warnings.filter((one) => one.includes("myid"))).toEqual([]);
  }
});

test("where /conf cannot be made, and where it has no configuration and is read-only, the data directory has one", () => {
  writeFileSync(join(root, "file"), "");
  const conf = join(root, "file/conf");
  const { argv } = prepare({ ZOO_CONF_DIR: conf, ZOOID_PEER_SECRET: "a:b" });
  expect(argv).toEqual([join(root, "data/conf/zoo.cfg")]);
  expect(read("data", "conf", "zoo.cfg")).toContain(`zooid.peerSecretFile=${join(root, "data/conf/peer.secret")}`);
  expect(prepare({ ZOO_CONF_DIR: conf, ZOOID_PEER_SECRET: "a:b" }).notes).toEqual([]);
});

test("the data of another server than the environment names, and a myid that cannot be read, end the start", () => {
  prepare({ ZOO_MY_ID: "3" });
  expect(() => prepare({ ZOO_MY_ID: "03" })).not.toThrow();
  expect(() => prepare({ ZOO_SERVER_ID: "4" })).toThrow(
    `ZOO_SERVER_ID names server 4, and ${join(root, "data/myid")} names server 3: mount the data of server 4, or correct the variable`,
  );
  rmSync(join(root, "data/myid"));
  mkdirSync(join(root, "data/myid"));
  expect(() => prepare()).toThrow(`cannot read ${join(root, "data/myid")}: EISDIR`);
});

test("secrets come from files without their last line break, go into files for this user alone, and into no sentence", () => {
  const file = (name: string, text: string): string => {
    writeFileSync(join(root, name), text);
    return join(root, name);
  };
  const { notes, warnings } = prepare({
    ZOOID_PEER_SECRET_FILE: file("peer", "a:aHVudGVyMg==\n"),
    ZOO_ENABLE_AUTH: "yes",
    ZOO_SERVER_USERS: "bob",
    ZOO_SERVER_PASSWORDS_FILE: file("passwords", "hunter2\r\n"),
  });
  expect(read("conf", "peer.secret")).toBe("a:aHVudGVyMg==\n");
  expect(read("conf", "jaas.conf")).toContain('"hunter2"');
  for (const name of readdirSync(join(root, "conf")))
    expect(statSync(join(root, "conf", name)).mode & 0o777).toBe(0o600);
  expect([...notes, ...warnings].join()).not.toMatch(/hunter2|aHVudGVyMg/);
});

test("a file of a key store is no secret, and an unknown name that ends in _FILE is not read", () => {
  const { warnings } = prepare({
    ZOO_TLS_CLIENT_ENABLE: "yes",
    ZOO_TLS_CLIENT_KEYSTORE_FILE: "/nowhere/k.jks",
    ZOO_TICKTIM_FILE: "/nowhere/tick",
  });
  expect(read("conf", "zoo.cfg")).toContain("ssl.keyStore.location=/nowhere/k.jks\n");
  expect(warnings.filter((one) => one.includes("ZOO_TICKTIM_FILE"))).toHaveLength(1);
});

test("secrets that are missing, too long, or given twice are reported in one error", () => {
  writeFileSync(join(root, "long"), "x".repeat(70_000));
  const environment = {
    ZOOID_PEER_SECRET_FILE: join(root, "missing"),
    ZOO_SERVER_PASSWORDS_FILE: join(root, "long"),
    ZOO_TICK_TIME: "1000",
    ZOO_TICK_TIME_FILE: join(root, "missing"),
  };
  let found: unknown;
  try {
    prepare(environment);
  } catch (error) {
    found = error;
  }
  expect(found).toBeInstanceOf(ConfigError);
  expect((found as ConfigError).problems).toHaveLength(3);
});

test("a directory that cannot be made is a mistake of the configuration", () => {
  writeFileSync(join(root, "data"), "");
  expect(() => prepare()).toThrow(ConfigError);
  rmSync(join(root, "data"));
  mkdirSync(join(root, "conf/zoo.cfg"), { recursive: true });
  mkdirSync(join(root, "data/myid"), { recursive: true });
  expect(() => prepare()).toThrow();
});
