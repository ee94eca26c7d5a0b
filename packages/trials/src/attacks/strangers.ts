import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { type EnsembleServer, until } from "../faults/ensemble-servers.ts";
import { type Attack, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

/** The ports for servers of all members, as their files have them. */
export function peerPortsOf(members: readonly EnsembleServer[]): readonly number[] {
  const peerPorts = members.flatMap(({ folder }) =>
    [...readFileSync(join(folder, "zoo.cfg"), "utf8").matchAll(/^server\.\d+=[\d.]+:(\d+):(\d+)/gm)].flatMap(
      ([, quorum, election]) => [Number(quorum), Number(election)],
    ),
  );
  return [...new Set(peerPorts)];
}

/** A member's own ports for servers: for the quorum, for elections. */
export function ownPeerPorts({ folder, sid }: EnsembleServer): readonly number[] {
  const line = new RegExp(`^server\\.${sid}=[\\d.]+:(\\d+):(\\d+)`, "m").exec(
    readFileSync(join(folder, "zoo.cfg"), "utf8"),
  );
  return line === null ? [] : [Number(line[1]), Number(line[2])];
}

/** Connections that never say who they are. */
export const STRANGER_ATTACKS: readonly Attack[] = [
  {
    name: "connections-without-a-session",
    sends: "10,000 connections of 50 addresses that ask for no session, again as often as they are closed",
    async prepare({ port }) {
      return async () => {
        const endMs = performance.now() + 5000;
        let opened = 0;
        await Promise.all(
          range(50, async (address) => {
            const open: Attacker[] = [];
            while (performance.now() < endMs && open.length < 200) {
              open.push(await Attacker.open({ port, hasSession: false, localAddress: `127.1.0.${address + 1}` }));
              opened++;
            }
            await Promise.all(open.map((attacker) => attacker[Symbol.asyncDispose]()));
          }),
        );
        return `${opened} opened`;
      };
    },
  },
  {
    name: "strangers-at-peer-ports",
    sends: "idle connections of 250 addresses to every peer port while a member restarts",
    target: "ensemble",
    async prepare({ members }) {
      const ports = peerPortsOf(members);
      return async () => {
        const roles = await Promise.all(members.map((member) => member.role()));
        // Neither the leader nor the server whose clients are measured.
        const member = members.findLast((_, i) => roles[i] === "follower");
        if (member === undefined) throw new Error("there is no follower");
        const sockets: Socket[] = [];
        let isOver = false;
        const hold = (port: number, address: string): void => {
          if (isOver) return;
          const socket = connect({ port, host: "127.0.0.1", localAddress: address });
          sockets.push(socket);
          socket.on("error", () => {});
          socket.on("close", () => setTimeout(() => hold(port, address), 50));
        };
        for (let i = 0; i < 10_000; i++) hold(ports[i % ports.length] ?? 0, `127.2.0.${1 + (i % 250)}`);
        await member.kill();
        const startMs = performance.now();
        member.launch();
        await until("the member's return", 60_000, async () => (await member.role()) === "follower");
        const returnMs = Math.round(performance.now() - startMs);
        isOver = true;
        await Promise.all(
          sockets.map(async (socket) => {
            if (socket.closed) return;
            socket.destroy();
            await once(socket, "close");
          }),
        );
        return `the member is back after ${returnMs} ms`;
      };
    },
  },
];
