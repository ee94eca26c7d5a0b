import { test } from "vitest";
import { foundsAfterCrashes, foundsFromAttempts, leadsOrKeeps } from "../testing/founding.ts";

test("a server with data that it has made alone continues founding after a crash at any moment of it", () =>
  foundsAfterCrashes(3));

test("a server with data that it has made alone leads or keeps them, however much later it starts", () =>
  leadsOrKeeps(31));

test.each([0, 300, 2500].flatMap((lateMs) => [false, true].map((isLabelled) => ({ lateMs, isLabelled }))))(
  "servers that have nothing but epochs of attempts found an ensemble: $lateMs ms later, labelled: $isLabelled",
  (starts) => foundsFromAttempts({ stride: 3, ...starts }),
);
