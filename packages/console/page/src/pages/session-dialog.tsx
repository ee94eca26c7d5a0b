import { useCallback, useState } from "preact/hooks";
import type { ClientSessionJson } from "../../../src/api/shapes.ts";
import { api, textOf } from "../model/api.ts";
import { visible } from "../model/formats.ts";
import { nodeHash } from "../model/place.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useNotify } from "../parts/notices.tsx";
import { usePolled } from "../parts/use-polled.ts";

const POLL_MS = 5_000;
const SHOWN_MAX = 200;

interface SessionDialogProps {
  readonly session: ClientSessionJson;
  readonly onClose: () => void;
  readonly onEnded: () => void;
}

/** One session: what it owns and watches, and its end after a confirmation. */
export function SessionDialog({ session, onClose, onEnded }: SessionDialogProps) {
  const { id, address, member, ephemerals } = session;
  const [from, setFrom] = useState(0);
  const read = useCallback(() => api.watches(id, from), [id, from]);
  const { value: watched, error } = usePolled(read, POLL_MS);
  const [isEnding, setEnding] = useState(false);
  const [failure, setFailure] = useState<string>();
  const notify = useNotify();
  const end = (): void => {
    setFailure(undefined);
    api.endSession(id).then(
      () => {
        notify(`Session ${id} is ended`);
        onEnded();
      },
      (reason: unknown) => setFailure(textOf(reason)),
    );
  };
  return (
    <Dialog title={`Session ${id}`} onClose={onClose}>
      <p>
        The client at <code>{visible(address)}</code>, connected to <code>{visible(member)}</code>.
      </p>
      <h3>Ephemeral nodes</h3>
      <Paths paths={ephemerals} isCut={false} />
      <h3>Watched paths{watched !== undefined && watched.total > 0 && `: ${watched.total.toLocaleString()}`}</h3>
      {watched?.notes.map((note) => (
        <p key={note} class="hint">
          {note}
        </p>
      ))}
      {watched === undefined ? (
        error === undefined && <p class="hint">Asking the members…</p>
      ) : (
        <>
          <Paths paths={watched.paths} isCut={watched.isCut} />
          {watched.total > SHOWN_MAX && (
            <div class="toolbar">
              <button type="button" disabled={from === 0} onClick={() => setFrom(Math.max(0, from - SHOWN_MAX))}>
                Earlier paths
              </button>
              <span class="hint" role="status">
                {(from + 1).toLocaleString()} to {(from + watched.paths.length).toLocaleString()}
              </span>
              <button
                type="button"
                disabled={from + watched.paths.length >= watched.total}
                onClick={() => setFrom(from + SHOWN_MAX)}
              >
                Further paths
              </button>
            </div>
          )}
        </>
      )}
      <Failure text={error} />
      {isEnding && (
        <p class="banner warning" role="alert">
          <Icon name="warning" />
          <span>
            Its ephemeral nodes are deleted at once: locks that it holds are free, while its client may still work. The
            client is disconnected, and its session does not come back.
          </span>
        </p>
      )}
      <Failure text={failure} />
      <footer>
        <button type="button" onClick={onClose}>
          {isEnding ? "Cancel" : "Close"}
        </button>
        <button
          type="button"
          class={`danger ${isEnding ? "filled" : ""}`}
          onClick={isEnding ? end : () => setEnding(true)}
        >
          {isEnding ? `End ${id}` : "End the session"}
        </button>
      </footer>
    </Dialog>
  );
}

function Paths({ paths, isCut }: { readonly paths: readonly string[] | null; readonly isCut: boolean }) {
  if (paths === null) return <p class="hint">Unknown.</p>;
  if (paths.length === 0) return <p class="hint">None.</p>;
  return (
    <ul class="plain">
      {paths.slice(0, SHOWN_MAX).map((path) => (
        <li key={path}>
          <a href={nodeHash(path)}>{visible(path)}</a>
        </li>
      ))}
      {(isCut || paths.length > SHOWN_MAX) && <li class="hint">There are more.</li>}
    </ul>
  );
}
