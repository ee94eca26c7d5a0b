import { errorJson, formatZxid, keepCode, type Zxid } from "@zooid/model";

/** Why an Apache ensemble cannot be followed any further. */
export type ApacheTxnErrorDetail =
  /** The tree is not the one that the transaction was made for. */
  | { readonly code: "DOES_NOT_FIT"; readonly zxid: Zxid; readonly path: string; readonly found: string }
  /** A node, or a session, that this server cannot have. */
  | { readonly code: "CANNOT_BE_KEPT"; readonly zxid: Zxid; readonly path: string; readonly found: string }
  /** The snapshot has no such node, which every ensemble of 3.5 or later has. */
  | { readonly code: "SNAPSHOT_LACKS"; readonly zxid: Zxid; readonly path: string };

/** A transaction or a snapshot of Apache's that this tree cannot take over. */
export class ApacheTxnError extends Error {
  override readonly name = "ApacheTxnError";
  readonly detail: ApacheTxnErrorDetail;

  constructor(detail: ApacheTxnErrorDetail) {
    super(describe(detail));
    this.detail = detail;
    keepCode(this, detail.code);
  }

  get code(): ApacheTxnErrorDetail["code"] {
    return this.detail.code;
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

const PATH_SHOWN_MAX = 200;

function describe(detail: ApacheTxnErrorDetail): string {
  const zxid = formatZxid(detail.zxid);
  switch (detail.code) {
    case "DOES_NOT_FIT":
      return `transaction ${zxid} of ${shown(detail.path)} does not fit the tree: ${detail.found}`;
    case "CANNOT_BE_KEPT":
      return `${shown(detail.path)} at ${zxid} cannot be kept: ${detail.found}`;
    case "SNAPSHOT_LACKS":
      return `the snapshot at ${zxid} has no node ${shown(detail.path)}, as those of versions before 3.5 have none, and 3.5 to 3.9 are followed: upgrade the ensemble first`;
  }
}

/** A session has no path. */
function shown(path: string): string {
  if (!path.startsWith("/")) return path;
  return JSON.stringify(path.length > PATH_SHOWN_MAX ? `${path.slice(0, PATH_SHOWN_MAX)}…` : path);
}
