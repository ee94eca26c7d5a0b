import { test } from "vitest";
import { foldsAsApplied } from "../testing/folds.ts";

test.each([2, 3])("random transactions folded at random marks give what applying them gives, seed %i", foldsAsApplied);
