import fc from "fast-check";
import { expect, test } from "vitest";
import { actsArbitrary } from "../testing/acts.ts";
import { SECURITY_ACTS, SecurityWalk } from "../testing/security-walk.ts";

const WALKS = Number(process.env["SECURITY_WALKS"] ?? 2);
const WALK_MS_MAX = 300_000;

test(
  "TLS and a secret are turned on and off in any order, and an accepted reload leaves all servers in service",
  async () => {
    let accepted = 0;
    const acts = actsArbitrary(SECURITY_ACTS, { minLength: 6, maxLength: 10 });
    const property = fc.asyncProperty(acts, async (walk) => {
      accepted += (await SecurityWalk.run(walk)).accepted;
    });
    await fc.assert(property, { numRuns: WALKS, endOnFailure: true });
    expect(accepted).toBeGreaterThan(0);
  },
  WALKS * WALK_MS_MAX,
);
