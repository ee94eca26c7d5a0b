import { expect, test } from "vitest";
import { OfflineError } from "../offline-error.ts";
import { checkRoom } from "./free-room.ts";

const MIB = 1024 * 1024;

test("a disk with less room than is needed is refused, with both", () => {
  const refused = (): void => checkRoom("/data", 10 * MIB, 10 * MIB - 1);
  expect(refused).toThrow(OfflineError);
  expect(refused).toThrow("the disk of /data has 10 MiB left, and about 10 MiB are needed");
  checkRoom("/data", 10 * MIB, 10 * MIB);
});

test("a directory that does not exist yet has the room of the one above it", () => {
  checkRoom("/tmp/none/of/these/exists", 1);
  expect(() => checkRoom("/tmp/none/of/these/exists", Number.MAX_VALUE)).toThrow(OfflineError);
});
