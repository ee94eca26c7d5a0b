import { useEffect, useRef, useState } from "preact/hooks";
import type { ClientSessionJson } from "../../../src/api/shapes.ts";
import { type ClientRate, clientRates } from "../model/client-rates.ts";

interface Seen {
  readonly sessions: readonly ClientSessionJson[];
  readonly atMs: number;
}

/** The rates of polled sessions, from the last two lists; empty until there are two. */
export function useClientRates(sessions: readonly ClientSessionJson[] | undefined): readonly ClientRate[] {
  const [rates, setRates] = useState<readonly ClientRate[]>([]);
  const last = useRef<Seen | undefined>(undefined);
  useEffect(() => {
    if (sessions === undefined) return;
    const atMs = performance.now();
    const before = last.current;
    last.current = { sessions, atMs };
    if (before !== undefined) setRates(clientRates(before.sessions, sessions, (atMs - before.atMs) / 1000));
  }, [sessions]);
  return rates;
}
