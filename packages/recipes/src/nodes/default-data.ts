import { networkInterfaces } from "node:os";
import type { Client, Payload } from "@zooid/client";

let known: string | undefined;

/**
 * Default data of a recipe's node: the client's `defaultData`, or this machine's address, as in
 * Curator. For information only.
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
