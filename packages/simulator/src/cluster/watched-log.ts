import type { ZabLog } from "@zooid/zab";

type Append = ZabLog["append"];

/** A log whose appends are reported before they happen. */
export function watchedLog(log: ZabLog, appending: (run: Parameters<Append>[0]) => void): ZabLog {
  return {
    get durable() {
      return log.durable;
    },
    append: (run, generation, committed, lastSeenConfig) => {
      appending(run);
      log.append(run, generation, committed, lastSeenConfig);
    },
    setConfigs: (configs, done) => log.setConfigs(configs, done),
    setPromise: (promise, done) => log.setPromise(promise, done),
    setCurrentEpoch: (epoch, done) => log.setCurrentEpoch(epoch, done),
    setEnsembleId: (ensembleId, done) => log.setEnsembleId(ensembleId, done),
    beginStage: (after, done) => log.beginStage(after, done),
    stage: (run, done) => log.stage(run, done),
    dropStage: (done) => log.dropStage(done),
    installHistory: (install, done) => log.installHistory(install, done),
    read: (after, bytesMax, done) => log.read(after, bytesMax, done),
    chainAt: (zxid, done) => log.chainAt(zxid, done),
  };
}
