import { networkInterfaces } from "node:os";

let known: string | undefined;

/** What a node holds of which its owner has nothing to say: this machine's address, as with Curator. Nobody may read anything into it. */
export function defaultData(): string {
  known ??= Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
  return known ?? "127.0.0.1";
}
