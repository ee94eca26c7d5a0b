import { formatZxid, ZXID_NONE, type Zxid } from "@zooid/model";
import type { FollowerActs } from "../admin/admin-view.ts";
import type { Storage } from "../storage/storage.ts";
import { FollowRefusal } from "./follow-syncs.ts";
import type { FollowEnd, Following } from "./following.ts";

/** The acts of operators on a server that follows an Apache ensemble. */
export function followerActs(
  following: Following,
  storage: () => Pick<Storage, "backup" | "flushHistoryFiles">,
): FollowerActs {
  /** The members that stand by read the target. */
  const uploaded = async (end: () => Promise<FollowEnd | FollowRefusal>): Promise<FollowEnd | FollowRefusal> => {
    const { backup } = storage();
    if (backup === undefined) return NO_BACKUP;
    const found = await end();
    if (found instanceof FollowRefusal) return found;
    try {
      // A base that is due would take longer than clients may be stopped.
      await storage().flushHistoryFiles();
      // The members begin with a base.
      const hasBase = backup.status.base !== undefined;
      const uploadedNow = await (hasBase ? backup.upload() : backup.now());
      const { end: logged = ZXID_NONE, base = ZXID_NONE, holder, isHolder } = uploadedNow;
      if (isHolder !== true) return notUploaded(`${holder ?? "another server"} uploads to its target`);
      const archived = Math.max(logged, base) as Zxid;
      if (archived >= found.zxid) return found;
      return notUploaded(`it ends at ${formatZxid(archived)}, and this server stands at ${formatZxid(found.zxid)}`);
    } catch (error) {
      return notUploaded(error instanceof Error ? error.message : String(error));
    }
  };
  return {
    sessions: () => following.sessions(),
    touch: () => following.touch(),
    sync: () => following.sync(),
    archive: () => uploaded(() => following.place()),
    finish: (zxid) => uploaded(() => following.finish(zxid)),
    resume: () => following.resume(),
  };
}

const NO_BACKUP = new FollowRefusal(
  "zooid.backup.target is not set: the members of the new ensemble read the state from there",
);

function notUploaded(reason: string): FollowRefusal {
  return new FollowRefusal(`the backup is not up to date: ${reason}`, { isForNow: true });
}
