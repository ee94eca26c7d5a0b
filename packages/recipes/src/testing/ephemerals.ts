import type { Client } from "@zooid/client";

/** The ephemeral nodes at or below a path. */
export async function ephemerals(zk: Client, path: string): Promise<readonly string[]> {
  const stat = await zk.exists(path);
  if (stat === null) return [];
  if (stat.ephemeralOwner !== 0n) return [path];
  const { names } = await zk.children(path).catch(() => ({ names: [] }));
  return (await Promise.all(names.map((name) => ephemerals(zk, `${path}/${name}`)))).flat();
}
