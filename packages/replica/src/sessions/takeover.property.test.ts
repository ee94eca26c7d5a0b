import { test } from "vitest";
import { answersNewestConnection } from "../testing/takeover.ts";

test("the connection that has a session is answered or closed, whatever its earlier connections have in flight", () =>
  answersNewestConnection(100));
