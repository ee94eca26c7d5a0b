import { test } from "vitest";
import { surviveFalsePeer } from "./testing/false-peer.ts";

test("whatever a learner sends to its leader, no server fails, and the others continue or elect", () =>
  surviveFalsePeer(300));
