import type { HistoryAnswer, HistoryQuery, TxnDecoder, Zxid } from "@zooid/model/storage";
import { answerCalls } from "../threads/answer-calls.ts";
import type { CallThreadData } from "../threads/call-thread.ts";
import { loadThread } from "../threads/loading.ts";
import { lowerPriority } from "../threads/lower-priority.ts";
import { answerHistory } from "./history-answers.ts";
import { HistoryReader } from "./history-reader.ts";
import { RecentPages } from "./recent-pages.ts";
import type { TimePlace } from "./time-places.ts";

/** The data that the thread is started with. */
export interface HistoryThreadData {
  readonly archive: string;
  readonly decoderModule: string;
}

/** The calls of the thread: clients' questions, and an operator's. */
export type HistoryCall =
  | { readonly kind: "query"; readonly query: HistoryQuery; readonly floor: Zxid }
  | { readonly kind: "time"; readonly timeMs: number };

/** Below every thread that a client's write waits for. */
const NICE = 10;
/** A connection sends no ping while its question waits, so that is some 1.5 s at most. */
const BASE_NODES_MAX = 500_000;

const { data, port } = loadThread<CallThreadData<HistoryThreadData>>();
lowerPriority(NICE);
const { TxnReader } = (await import(data.decoderModule)) as { readonly TxnReader: new () => TxnDecoder };
const decoder = new TxnReader();
const reader = new HistoryReader(data.archive, decoder, BASE_NODES_MAX);
const pages = new RecentPages();

answerCalls<HistoryCall, HistoryAnswer | TimePlace>(port, {
  file: data.archive,
  answer: (call) =>
    call.kind === "time" ? reader.placeOf(call.timeMs) : answerHistory(reader, call.query, pages, call.floor),
  transfer: () => [],
  close: () => {},
});
