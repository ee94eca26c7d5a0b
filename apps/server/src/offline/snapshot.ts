import { mkdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { positionText, readSurvivor, type Survivor, snapshotText, writeOfflineSnapshot } from "@zooid/embedded-server";
import { counted } from "@zooid/model";
import type { SnapshotCommand } from "./offline-command.ts";
import type { Output } from "./recover.ts";

/** `zooid-server snapshot`: writes what a stopped server holds as Apache ZooKeeper does. */
export async function snapshot({ directories, out, takesDamaged }: SnapshotCommand, output: Output): Promise<void> {
  const { warn } = output;
  const survivor = readSurvivor(directories);
  warnOfUncommitted(survivor, output);
  const directory = out === undefined ? process.cwd() : dirname(out);
  mkdirSync(directory, { recursive: true });
  const name = out === undefined ? undefined : basename(out);
  const written = await writeOfflineSnapshot(survivor, { directory, name, takesDamaged, warn });
  output.print(snapshotText(written));
}

/** All that is logged is taken: says what of it may never have been committed. */
export function warnOfUncommitted({ committed, uncommittedCount, zxid }: Survivor, { warn }: Output): void {
  if (committed === zxid) return;
  const open = uncommittedCount === undefined ? "" : ` (${counted(uncommittedCount, "transaction")})`;
  warn(`it has what is logged after ${positionText(committed)} too${open}, which may never have been committed`);
}
