import { Observable } from "rxjs";
import { ApacheFollower } from "./apache-follower.ts";
import type { FollowEvent } from "./follow-event.ts";
import { checkFollow, type FollowOptions } from "./follow-options.ts";

/**
 * Follows an ensemble as {@link follow} does: each subscription has a link of its own, which ends
 * with it. An Observable cannot slow its source down: a subscriber that collects events to work on
 * later keeps them in memory, where `for await` leaves them in the spool.
 *
 * @throws ArgumentError for hosts or options that are none
 */
export function follow$(hosts: string, options?: FollowOptions): Observable<FollowEvent> {
  const checked = checkFollow("follow$", hosts, options);
  return new Observable((subscriber) => {
    const follower = new ApacheFollower(checked);
    void deliver();
    return () => void follower[Symbol.asyncDispose]();

    async function deliver(): Promise<void> {
      try {
        for await (const event of follower) {
          subscriber.next(event);
          if (subscriber.closed) return;
        }
        subscriber.complete();
      } catch (error) {
        subscriber.error(error);
      } finally {
        await follower[Symbol.asyncDispose]();
      }
    }
  });
}
