import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { hasRoomForFile } from "./database.ts";

test("a directory with room for one more file stays as it is", () => {
  using place = new TemporaryDirectory();
  const directory = join(place.path, "data");
  mkdirSync(directory);
  expect(hasRoomForFile(directory)).toBe(true);
  expect(readdirSync(directory)).toEqual([]);
});
