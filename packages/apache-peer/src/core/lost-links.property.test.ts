import { composeZxid, counterOf, epochOf, type Zxid } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { leader, snapshot, zxidAt } from "../testing/leader-packets.ts";
import { Observed } from "../testing/observed.ts";
import type { ObserverMemory } from "./observer.ts";

/** A leader keeps the last transactions; who lacks earlier ones gets a snapshot. */
const KEPT = 3;
const LINKS_MAX = 40;

/** The history of an ensemble whose leaders come and go. */
class History {
  readonly zxids: bigint[] = [zxidAt(1, 1)];
  epoch = 1;

  get last(): bigint {
    return this.zxids.at(-1) ?? 0n;
  }

  write(): bigint {
    const isNewEpoch = this.last >> 32n !== BigInt(this.epoch);
    this.zxids.push(isNewEpoch ? zxidAt(this.epoch, 1) : this.last + 1n);
    return this.last;
  }

  /** Messages of Apache's leader to a learner at a position, with writes that come meanwhile. */
  link(position: Zxid | undefined, writes: number): readonly Buffer[] {
    const behind = position === undefined ? undefined : this.zxids.indexOf(BigInt(position)) + 1;
    const isKept = behind !== undefined && behind > 0 && behind >= this.zxids.length - KEPT;
    const packets = [leader.info(this.epoch)];
    if (isKept) {
      packets.push(leader.diff(this.last));
      for (const zxid of this.zxids.slice(behind)) packets.push(leader.proposal(zxid), leader.commit(zxid));
    } else packets.push(leader.snap(this.last), snapshot());
    const written = Array.from({ length: writes }, () => leader.inform(this.write()));
    const early = Math.floor(writes / 3);
    packets.push(...written.slice(0, early), leader.newLeader(this.epoch), ...written.slice(early, 2 * early));
    return [...packets, leader.upToDate(), ...written.slice(2 * early)];
  }
}

/** The last transaction in the consumer's state. */
class Consumer {
  at: Zxid | undefined;
  #candidate: Zxid | undefined;

  take(lines: readonly string[]): void {
    for (const line of lines) {
      const [, kind, text = ""] = /^(snapshot|snapshot ends|transaction|up to date) (\S+)$/.exec(line) ?? [];
      const zxid = kind === "up to date" ? 0 : Number(text);
      if (kind === "snapshot ends") this.#candidate = zxid as Zxid;
      else if (kind === "snapshot") this.#candidate = undefined;
      else if (kind === "transaction") this.#transaction(zxid as Zxid);
    }
  }

  #transaction(zxid: Zxid): void {
    const before = this.#candidate ?? this.at;
    if (before === undefined) throw new Error("a transaction without a state");
    const isNext =
      epochOf(zxid) === epochOf(before) ? counterOf(zxid) === counterOf(before) + 1 : counterOf(zxid) === 1;
    if (!isNext) throw new Error(`0x${zxid.toString(16)} came behind 0x${before.toString(16)}`);
    if (this.#candidate === undefined) this.at = zxid;
    else this.#candidate = zxid;
  }

  /** The link has ended at a position, or without one. */
  ended({ position }: ObserverMemory): void {
    if (this.#candidate !== undefined && position !== undefined) this.at = this.#candidate;
    this.#candidate = undefined;
    if (position !== undefined) expect(position).toBe(this.at);
  }
}

test("a leader that is lost at any byte, again and again: each transaction is followed once, in order, up to the last one", () => {
  const link = fc.record({
    cut: fc.double({ min: 0, max: 1, noNaN: true }),
    writes: fc.integer({ min: 0, max: 6 }),
    missed: fc.integer({ min: 0, max: 5 }),
    isNewEpoch: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(link, { minLength: 1, maxLength: LINKS_MAX }), (links) => {
      const history = new History();
      const consumer = new Consumer();
      let memory: ObserverMemory = { acceptedEpoch: 0, currentEpoch: 0, position: undefined };
      const follow = (writes: number, cut: number): void => {
        const observed = new Observed(memory);
        const bytes = Buffer.concat([...history.link(memory.position, writes)]);
        observed.take([bytes.subarray(0, Math.ceil(bytes.length * cut))]);
        consumer.take(observed.lines);
        memory = observed.observer.memory;
        consumer.ended(memory);
      };
      for (const { cut, writes, missed, isNewEpoch } of links) {
        follow(writes, cut);
        for (let i = 0; i < missed; i++) history.write();
        if (isNewEpoch) history.epoch++;
      }
      follow(2, 1);
      expect(consumer.at).toBe(composeZxid(Number(history.last >> 32n), Number(history.last & 0xffff_ffffn)));
    }),
    { numRuns: 1000 },
  );
});
