import { epochOf } from "@zooid/model";
import type { ReceivedSnapshot, StoreLog } from "@zooid/txn-log";

/** Begins a new history of the log with a state that was imported. */
export async function takeOverImported(
  log: StoreLog,
  { position, stateFile, epochs }: ReceivedSnapshot,
): Promise<void> {
  const { zxid } = position;
  const epoch = epochOf(zxid);
  const { sid, bootCount } = log.durable.identity;
  const install = { epoch, tail: zxid, committed: zxid, snapshot: { stateFile, epochs } };
  // Writes complete in their order.
  log.setPromise({ epoch, sid, incarnation: bootCount }, () => {});
  log.beginStage(position, () => {});
  await new Promise<void>((done) => log.installHistory(install, done));
}
