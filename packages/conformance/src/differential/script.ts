/**
 * A conversation of several sessions with one server, as data: it can be run on any server,
 * shortened, and printed.
 */
export interface Script {
  readonly seed: number;
  readonly steps: readonly Step[];
}

/** The sessions, each on a connection of its own. */
export const SESSIONS = ["a", "b", "c"] as const;
export type SessionName = (typeof SESSIONS)[number];

export type Step =
  /** Sent at once, without waiting for replies between them. */
  | { readonly kind: "requests"; readonly session: SessionName; readonly requests: readonly ScriptRequest[] }
  /** Alone: Apache answers it out of turn. */
  | { readonly kind: "auth"; readonly session: SessionName; readonly scheme: string; readonly credentials: string }
  /** The session is closed, and another takes its name. */
  | { readonly kind: "leave"; readonly session: SessionName }
  /** The connection is lost, the session continues; it may arm watches again. */
  | { readonly kind: "come-back"; readonly session: SessionName; readonly arms: Arms | undefined }
  /** A session with an ephemeral node there sends nothing until the server ends it. */
  | { readonly kind: "expiry"; readonly path: string };

export interface ScriptRequest {
  /** With paths as the script has them. */
  readonly label: string;
  readonly opcode: number;
  /** Makes the body from the path of the script's root, such as `/s12`. */
  readonly body: (root: string) => Buffer;
}

export interface Arms {
  readonly opcode: number;
  readonly lists: readonly (readonly string[])[];
  /** How many transactions ago the client claims to have last seen one. */
  readonly ago: number;
}

/** Stands for the script's own root in its paths, so that many scripts can run on one server. */
export const ROOT_MARK = "~";

export function placed(path: string, root: string): string {
  return path.replaceAll(ROOT_MARK, root);
}

/** One line for each step. */
export function describe({ steps }: Script): readonly string[] {
  return steps.flatMap(linesOf);
}

function linesOf(step: Step): readonly string[] {
  switch (step.kind) {
    case "requests":
      return step.requests.map(({ label }, i) => `${step.session}${i === 0 ? "" : " (at once)"}: ${label}`);
    case "auth":
      return [`${step.session}: auth ${step.scheme} ${step.credentials}`];
    case "leave":
      return [`${step.session}: leaves, and a new session takes its place`];
    case "come-back":
      return [`${step.session}: comes back${step.arms === undefined ? "" : ` and arms ${JSON.stringify(step.arms)}`}`];
    case "expiry":
      return [`a session with ${step.path} expires`];
  }
}
