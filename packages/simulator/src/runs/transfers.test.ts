import { composeZxid, type PeerMessage, serverId, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { Transfers } from "./transfers.ts";

const LEARNER = serverId(2);
const OTHER = serverId(3);
/** More than a transfer may stand still. */
const LONG_MS = 2000;

const at = (counter: number): Zxid => composeZxid(1, counter);
const staged = (counter: number): PeerMessage => ({ kind: "staged", epoch: 1, through: at(counter) });
const ack = (counter: number): PeerMessage => ({ kind: "ack", epoch: 1, durable: at(counter), check: 1 });

test("a transfer moves as long as the learner reports more than before", () => {
  const transfers = new Transfers();
  expect(transfers.isMoving(0)).toBe(false);
  for (let i = 1; i <= 5; i++) transfers.sent(LEARNER, i < 3 ? staged(i) : ack(i), i * LONG_MS);
  expect(transfers.isMoving(6 * LONG_MS - 1)).toBe(true);
  expect(transfers.isMoving(6 * LONG_MS)).toBe(false);
});

test("a transfer that begins again does not move before it gets further than the one before", () => {
  const transfers = new Transfers();
  for (let i = 1; i <= 5; i++) transfers.sent(LEARNER, staged(i), 0);
  for (let i = 1; i <= 5; i++) transfers.sent(LEARNER, staged(i), LONG_MS);
  expect(transfers.isMoving(LONG_MS)).toBe(false);
  transfers.sent(LEARNER, staged(6), LONG_MS);
  expect(transfers.isMoving(LONG_MS)).toBe(true);
});

test("each learner has a position of its own", () => {
  const transfers = new Transfers();
  transfers.sent(LEARNER, staged(9), 0);
  transfers.sent(OTHER, staged(1), LONG_MS);
  expect(transfers.isMoving(LONG_MS)).toBe(true);
});

test("entries behind the limit do not count, and a later limit changes nothing", () => {
  const transfers = new Transfers();
  transfers.limitTo(at(5));
  transfers.limitTo(at(9));
  transfers.sent(LEARNER, ack(6), 0);
  transfers.sent(LEARNER, ack(7), LONG_MS);
  expect(transfers.isMoving(0)).toBe(true);
  expect(transfers.isMoving(LONG_MS)).toBe(false);
});
