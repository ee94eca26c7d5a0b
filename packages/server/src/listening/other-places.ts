import { networkInterfaces } from "node:os";
import type { ServerId } from "@zooid/model";
import { javaAddress } from "@zooid/model";
import type { MemberDirectory } from "../peers/member-directory.ts";
import { overlaps, type Place } from "./listen-socket.ts";

/** A port that the configuration gives to another server. */
export interface OtherPlace {
  readonly sid: ServerId;
  /** A name or an address. */
  readonly host: string;
  readonly port: number;
}

const ANY: ReadonlySet<string | undefined> = new Set([undefined, "*", "0.0.0.0", "::"]);

/** The ports of all servers but this one. */
export function otherPlaces(directory: MemberDirectory, sid: ServerId): readonly OtherPlace[] {
  return directory.servers
    .filter((server) => server.sid !== sid)
    .flatMap((server) => {
      const { host, quorumPort, electionPort } = directory.addressOf(server.sid) ?? server;
      const { clientAddress } = server;
      const clientHost = ANY.has(clientAddress?.host) ? host : (clientAddress?.host ?? host);
      return [
        { sid: server.sid, host, port: quorumPort },
        { sid: server.sid, host, port: electionPort },
        ...(clientAddress === undefined ? [] : [{ sid: server.sid, host: clientHost, port: clientAddress.port }]),
      ];
    });
}

/** Whether a port at `place` answers for another server at `address`. */
export function isTakenFrom(place: Place, address: string): boolean {
  return ANY.has(place.address) ? isOwnAddress(address) : overlaps(place, { address, port: place.port });
}

function isOwnAddress(address: string): boolean {
  const text = javaAddress(address);
  if (text.startsWith("127.")) return true;
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .some((own) => javaAddress(own.address) === text);
}
