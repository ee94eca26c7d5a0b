import { networkInterfaces } from "node:os";
import type { Client, Payload } from "@zooid/client";

let known: string | undefined;

/**
 * What a node holds of which its owner has nothing to say: what the client says, or this machine's address, as with Curator. Nobody may read
 * anything into it.
 */
export function defaultData({ defaultData: said }: Client): Payload {
  return said === undefined ? machineAddress() : said;
}

export function machineAddress(): string {
  known ??= Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
  return known ?? "127.0.0.1";
}
