import type { HistoryAnswer, HistoryQuery } from "@zooid/model";
import type { HistoryAsker } from "@zooid/replica";
import { AddressTurns } from "./address-turns.ts";
import { TurnOrder, type TurnOrderOptions } from "./turn-order.ts";

export interface HistoryTurnsParts extends TurnOrderOptions {
  /** Reads the history; never rejects. */
  ask(query: HistoryQuery): Promise<HistoryAnswer>;
  answered(serial: number, answer: HistoryAnswer): void;
}

interface Question {
  readonly share: string;
  readonly isProxied: boolean;
  readonly serial: number;
  readonly query: HistoryQuery;
  readonly asker: HistoryAsker;
}

const GONE: HistoryAnswer = { kind: "failed", reason: "its connection is gone" };

/**
 * Questions of clients about the past, which one thread answers one after another: addresses take
 * turns, and one whose questions took long lets the others go first. A connection has one question
 * at a time; where it is gone before its turn, its question is not read for.
 */
export class HistoryTurns {
  readonly #parts: HistoryTurnsParts;
  readonly #order: TurnOrder;
  readonly #waiting: AddressTurns<Question>;
  /**
   * Further questions for pages that are read, which stay in memory until these are answered. A
   * page asks for a bounded number of access lists.
   */
  readonly #begun: Question[] = [];
  #isAsking = false;

  constructor(parts: HistoryTurnsParts) {
    this.#parts = parts;
    this.#order = new TurnOrder(parts);
    this.#waiting = new AddressTurns(this.#order);
  }

  /** Questions that wait for their turn. */
  get count(): number {
    return this.#waiting.count + this.#begun.length;
  }

  read(serial: number, query: HistoryQuery, asker: HistoryAsker): void {
    const { share, isProxied } = asker;
    const question = { share, isProxied, serial, query, asker };
    if (query.kind === "acls") this.#begun.push(question);
    else this.#waiting.add(question);
    if (!this.#isAsking) void this.#askAll();
  }

  async #askAll(): Promise<void> {
    this.#isAsking = true;
    for (let question = this.#take(); question !== undefined; question = this.#take()) {
      const { asker, query, serial, share } = question;
      if (!asker.isOpen) {
        this.#parts.answered(serial, GONE);
        continue;
      }
      const beganMs = this.#parts.now();
      const answer = await this.#parts.ask(query);
      this.#order.charge(share, this.#parts.now() - beganMs);
      this.#parts.answered(serial, answer);
    }
    this.#isAsking = false;
  }

  #take(): Question | undefined {
    return this.#begun.shift() ?? this.#waiting.take();
  }
}
