import { OpCode, type Request } from "@zooid/model";
import { pathWork } from "../path-work.ts";

/**
 * The cost of answers so far beside their number, in units of about a microsecond: listed names,
 * parts, paths of setWatches, long paths. A driver that shares its time fairly between connections
 * looks at it.
 */
export class RequestWork {
  count = 0;
}

/** The work of looking up the path of a request that has one; see {@link pathWork}. */
export function lookUpWork({ op, hasPath, path }: Request): number {
  switch (op) {
    case OpCode.PING:
    case OpCode.WHO_AM_I:
    case OpCode.MULTI_READ:
    case OpCode.SET_WATCHES:
    case OpCode.SET_WATCHES2:
      return 0;
    default:
      return hasPath ? pathWork(path) : 0;
  }
}
