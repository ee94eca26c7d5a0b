import { test } from "vitest";
import { decidesAlikeInPipeline, isEqualOnFollowers } from "./testing/tree-properties.ts";

// As `data-tree.property.test.ts`, with more histories.

test("what is decided about a pipeline is what would be decided one by one", () => decidesAlikeInPipeline(300));

test("a follower, and a tree loaded from a snapshot, equal the leader in every sum", () => isEqualOnFollowers(300));
