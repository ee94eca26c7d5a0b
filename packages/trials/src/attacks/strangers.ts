import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type EnsembleServer, until } from "../faults/ensemble-servers.ts";
import { type Attack, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

/** A member's ports for servers: for the quorum, for elections. */
export function peerPortsOf({ place }: EnsembleServer): readonly number[] {
  return [place.quorumPort, place.electionPort];
}

/** Neither the leader nor the server whose clients are measured. */
export async function lastFollower(members: readonly EnsembleServer[]): Promise<EnsembleServer> {
  const roles = await Promise.all(members.map((member) => member.role()));
  const member = members.findLast((_, i) => roles[i] === "follower");
  if (member === undefined) throw new Error("there is no follower");
  return member;
}

/** Ends a member and starts it again. @returns how long it took until it followed, in words */
export async function restartText(member: EnsembleServer): Promise<string> {
  await member.kill();
  const startMs = performance.now();
  member.launch();
  await until("the member's return", 60_000, async () => (await member.role()) === "follower");
  return `the member is back after ${Math.round(performance.now() - startMs)} ms`;
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
      const ports = members.flatMap(peerPortsOf);
      return async () => {
        const member = await lastFollower(members);
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
        const answer = await restartText(member);
        isOver = true;
        await Promise.all(
          sockets.map(async (socket) => {
            if (socket.closed) return;
            socket.destroy();
            await once(socket, "close");
          }),
        );
        return answer;
      };
    },
  },
];
