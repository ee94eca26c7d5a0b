import type { LinkRef } from "@zooid/model";
import { expect, test } from "vitest";
import { UnconfirmedRefusals } from "./unconfirmed-refusals.ts";

function withThree(): { refusals: UnconfirmedRefusals; refused: string[] } {
  const refusals = new UnconfirmedRefusals();
  const refused: string[] = [];
  const tell = (name: string) => () => {
    refused.push(name);
  };
  refusals.add(1, undefined, tell("own client"));
  refusals.add(2, 7 as LinkRef, tell("client at 7"));
  refusals.add(2, 8 as LinkRef, tell("client at 8"));
  return { refusals, refused };
}

test("renewals are refused in order, once, when their leadership check is confirmed", () => {
  const { refusals, refused } = withThree();
  refusals.confirmed(1);
  expect(refused).toEqual(["own client"]);
  refusals.confirmed(3);
  refusals.confirmed(4);
  expect(refused).toEqual(["own client", "client at 7", "client at 8"]);
});

test("no renewal is refused for a lost learner, nor by a server that does not lead any more", () => {
  const { refusals, refused } = withThree();
  refusals.lost(7 as LinkRef);
  refusals.confirmed(2);
  expect(refused).toEqual(["own client", "client at 8"]);
  refusals.add(3, undefined, () => refused.push("too late"));
  refusals.clear();
  refusals.confirmed(9);
  expect(refused).not.toContain("too late");
});
