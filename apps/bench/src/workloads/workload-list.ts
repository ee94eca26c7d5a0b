import type { Workload } from "../bench.ts";
import { createUnique } from "./create-unique.ts";
import { ephemeralChurn } from "./ephemeral-churn.ts";
import { list1k } from "./list-1k.ts";
import { multi10 } from "./multi-10.ts";
import { payload } from "./payload.ts";
import { readRatio } from "./read-ratio.ts";
import { barrier, election, lock, queue } from "./recipes.ts";
import { recover } from "./recover.ts";
import { scale } from "./scale.ts";
import { sessions } from "./sessions.ts";
import { timeline } from "./timeline.ts";
import { watchFanout } from "./watch-fanout.ts";
import { writeAt } from "./write-at.ts";

/** Everything that can be measured, in the order of the help. */
export const WORKLOADS: readonly Workload[] = [
  readRatio,
  writeAt,
  payload,
  scale,
  createUnique,
  multi10,
  list1k,
  watchFanout,
  sessions,
  ephemeralChurn,
  lock,
  election,
  barrier,
  queue,
  recover,
  timeline,
];
