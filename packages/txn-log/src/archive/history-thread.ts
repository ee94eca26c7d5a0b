import type { HistoryAnswer, HistoryQuery, TxnDecoder } from "@zooid/model/storage";
import { answerCalls } from "../threads/answer-calls.ts";
import type { CallThreadData } from "../threads/call-thread.ts";
import { loadThread } from "../threads/loading.ts";
import { lowerPriority } from "../threads/lower-priority.ts";
import { answerHistory } from "./history-answers.ts";
import { HistoryReader } from "./history-reader.ts";

/** What the thread is started with. */
export interface HistoryThreadData {
  readonly archive: string;
  readonly decoderModule: string;
}

/** Below every thread that a client's write waits for. */
const NICE = 10;
/** A connection sends no ping while its question waits, so that is some 1.5 s at most. */
const BASE_NODES_MAX = 500_000;

const { data, port } = loadThread<CallThreadData<HistoryThreadData>>();
lowerPriority(NICE);
const { TxnReader } = (await import(data.decoderModule)) as { readonly TxnReader: new () => TxnDecoder };
const reader = new HistoryReader(data.archive, new TxnReader(), BASE_NODES_MAX);

answerCalls<HistoryQuery, HistoryAnswer>(port, {
  file: data.archive,
  answer: (query) => answerHistory(reader, query),
  transfer: () => [],
  close: () => {},
});
