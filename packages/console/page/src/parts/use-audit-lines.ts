import { useEffect, useState } from "preact/hooks";
import { api, textOf } from "../model/api.ts";
import { type AuditLine, advanced, type MemberTail, merged, newTail } from "../model/audit-lines.ts";

const POLL_MS = 1_000;
/** A member that does not answer, or refuses, is asked less often. */
const FAILED_MS = 10_000;
const MEMBERS_MS = 10_000;

export interface AuditLines {
  readonly lines: readonly AuditLine[];
  readonly tails: readonly MemberTail[];
  /** Why the members are not known. */
  readonly error: string | undefined;
  readonly isAsked: boolean;
}

/**
 * The newest writes of all members while the page is visible: each member is asked for itself, so
 * that a slow one holds up no other.
 */
export function useAuditLines(isPaused: boolean): AuditLines {
  const [lines, setLines] = useState<readonly AuditLine[]>([]);
  const [tails, setTails] = useState<readonly MemberTail[]>([]);
  const [error, setError] = useState<string>();
  const [isAsked, setAsked] = useState(false);
  useEffect(() => {
    if (isPaused) return;
    const timers = new Set<ReturnType<typeof setTimeout>>();
    const asked = new Map(tails.map((tail) => [tail.sid, tail]));
    const following = new Set<number>();
    let isOver = false;
    const later = (ms: number, next: () => Promise<void>): void => {
      if (isOver) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        if (document.hidden) later(ms, next);
        else void next();
      }, ms);
      timers.add(timer);
    };
    const show = (tail: MemberTail): void => {
      asked.set(tail.sid, tail);
      setTails([...asked.values()].sort((a, b) => a.sid - b.sid));
    };
    const follow = async (sid: number): Promise<void> => {
      const tail = asked.get(sid);
      if (tail === undefined) {
        following.delete(sid);
        return;
      }
      let waitMs = POLL_MS;
      try {
        const answer = await api.audit(sid, tail.since, tail.after);
        if (isOver) return;
        setLines((all) => merged(all, tail, answer));
        show(advanced(tail, answer));
      } catch (reason) {
        if (isOver) return;
        waitMs = FAILED_MS;
        show({ ...tail, reason: textOf(reason) });
      }
      later(waitMs, () => follow(sid));
    };
    const findMembers = async (): Promise<void> => {
      try {
        const { members } = await api.ensemble();
        if (isOver) return;
        const present = new Set(members.map(({ sid }) => sid ?? 0));
        for (const sid of asked.keys()) if (!present.has(sid)) asked.delete(sid);
        for (const { sid, address } of members) {
          const number = sid ?? 0;
          if (!asked.has(number)) asked.set(number, newTail(number, sid === null ? address : `Server ${sid}`));
          if (following.has(number)) continue;
          following.add(number);
          void follow(number);
        }
        setTails([...asked.values()].sort((a, b) => a.sid - b.sid));
        setError(undefined);
      } catch (reason) {
        if (!isOver) setError(textOf(reason));
      }
      setAsked(true);
      later(MEMBERS_MS, findMembers);
    };
    void findMembers();
    return () => {
      isOver = true;
      for (const timer of timers) clearTimeout(timer);
    };
  }, [isPaused]);
  return { lines, tails, error, isAsked };
}
