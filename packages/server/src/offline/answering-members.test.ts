import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type Member, serverId } from "@zooid/model";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { expect, test } from "vitest";
import { answeringMembers } from "./answering-members.ts";

function memberAt(sid: number, ports: readonly [quorum: number, election: number, client: number | undefined]): Member {
  const [quorumPort, electionPort, client] = ports;
  return {
    sid: serverId(sid),
    host: "127.0.0.1",
    quorumPort,
    electionPort,
    isObserver: false,
    clientAddress: client === undefined ? undefined : { host: "0.0.0.0", port: client },
    group: undefined,
    weight: 1,
  };
}

test("a member that listens at any of its addresses answers, whatever it says then", async () => {
  const listener = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const [closed = 0, also = 0] = await freePorts(2);
  const members = [
    memberAt(1, [closed, also, undefined]),
    memberAt(2, [closed, port, undefined]),
    memberAt(3, [closed, also, port]),
    { ...memberAt(4, [closed, also, undefined]), host: "no-such-host.invalid" },
  ];
  const address = `127.0.0.1:${port}`;
  expect(await answeringMembers(members)).toEqual([
    { sid: 2, address },
    { sid: 3, address },
  ]);
  listener.close();
});
