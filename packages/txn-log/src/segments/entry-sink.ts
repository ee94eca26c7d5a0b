import type { Zxid } from "@zooid/model";

/** A walk's callback for one entry: its record lies in the bytes, which are lent for the call. */
export type EntrySink = (zxid: Zxid, bytes: Buffer, start: number, end: number) => void;
