import { test } from "vitest";
import { decidesAlikeInPipeline, isEqualOnFollowers } from "./testing/tree-properties.ts";

test("what is decided about a pipeline is what would be decided one by one", () => decidesAlikeInPipeline(80));

test("a follower, and a tree loaded from a snapshot, equal the leader in every sum", () => isEqualOnFollowers(80));
