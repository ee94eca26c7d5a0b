import { SERVER_FEATURES_PATH } from "@zooid/model";
import type { CallOptions } from "../calls/call.ts";
import { GET_DATA_OR_NULL, type NodeData } from "../calls/operation.ts";
import type { SessionDriver } from "../session/session-driver.ts";

/** The features of the present connection's server, as far as they are known. */
interface Support {
  readonly connection: number;
  readonly words: Promise<ReadonlySet<string>>;
}

const supports = new WeakMap<SessionDriver, Support>();

/** Whether the server of the present connection has operations of its own, by their word. */
export async function hasFeature(driver: SessionDriver, word: string, limits: CallOptions): Promise<boolean> {
  return (await featuresOf(driver, limits)).has(word);
}

function featuresOf(driver: SessionDriver, limits: CallOptions): Promise<ReadonlySet<string>> {
  const { connectionCount } = driver.metrics;
  const known = supports.get(driver);
  if (known?.connection === connectionCount) return known.words;
  const words = readFeatures(driver, limits);
  supports.set(driver, { connection: connectionCount, words });
  // A failed read says nothing about the server.
  words.catch(() => supports.delete(driver));
  return words;
}

async function readFeatures(driver: SessionDriver, limits: CallOptions): Promise<ReadonlySet<string>> {
  const place = { path: SERVER_FEATURES_PATH, shownPath: SERVER_FEATURES_PATH, body: undefined };
  const call = { operation: GET_DATA_OR_NULL, ...place, options: limits };
  const node = await driver.ask<undefined, NodeData | null>(call);
  return new Set(
    Buffer.from(node?.data ?? "")
      .toString()
      .split(" "),
  );
}
