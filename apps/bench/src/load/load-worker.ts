import { parentPort, workerData } from "node:worker_threads";
import { assertNever } from "@zooid/model";
import { ChurnLoad } from "./churn-load.ts";
import { FanoutLoad } from "./fanout-load.ts";
import type { Job } from "./job.ts";
import type { Assignment, FromWorker, ToWorker } from "./load-crew.ts";
import type { Performer } from "./performer.ts";
import { RecipeLoad } from "./recipe-load.ts";
import { RequestLoad, type Share } from "./request-load.ts";
import { SessionLoad } from "./session-load.ts";

// A thread of the generator: does its share of one job and returns its measurements.

const PROGRESS_MS = 200;

const { job, share } = workerData as Assignment;
const performer = performerOf(job, share);
const stopping = new AbortController();
const start = Promise.withResolvers<number>();
parentPort?.on("message", (message: ToWorker) => {
  if (message.kind === "stop") stopping.abort();
  else start.resolve(message.atEpochMs - performance.timeOrigin);
});

await performer.open();
send({ kind: "ready" });
const startMs = await start.promise;
const progress = setInterval(() => {
  send({ kind: "progress", total: performer.total, errors: performer.errors.total });
}, PROGRESS_MS);
const outcome = await performer.run(startMs, stopping.signal, (part) => send({ kind: "part", part }));
clearInterval(progress);
send({ kind: "outcome", outcome });
parentPort?.close();

function performerOf(job: Job, share: Share): Performer<unknown> {
  switch (job.kind) {
    case "requests":
      return new RequestLoad(job, share);
    case "churn":
      return new ChurnLoad(job, share);
    case "fanout":
      return new FanoutLoad(job);
    case "sessions":
      return new SessionLoad(job);
    case "recipe":
      return new RecipeLoad(job);
    default:
      return assertNever(job);
  }
}

function send(message: FromWorker): void {
  parentPort?.postMessage(message);
}
