import { test } from "vitest";
import { checkpointsAsApplied } from "../testing/checkpoints.ts";

test.each([2, 3])(
  "random transactions checkpointed at random marks give what applying them gives, seed %i",
  checkpointsAsApplied,
);
