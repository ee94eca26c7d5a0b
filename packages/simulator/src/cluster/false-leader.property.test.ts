import { test } from "vitest";
import { surviveFalseLeader } from "../testing/false-leader.ts";

test("whatever a leader sends to its learner, the learner does not fail", () => surviveFalseLeader(400));
