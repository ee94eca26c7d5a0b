import { useCallback, useState } from "preact/hooks";
import type { ClientSessionJson } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { visible } from "../model/formats.ts";
import { Banner } from "../parts/banner.tsx";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failure } from "../parts/failure.tsx";
import { NodeLink } from "../parts/links.tsx";
import { Notes } from "../parts/notes.tsx";
import { useNotify } from "../parts/notices.tsx";
import { useAction } from "../parts/use-action.ts";
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
  const action = useAction();
  const notify = useNotify();
  const end = (): void =>
    action.run(async () => {
      await api.endSession(id);
      notify(`Session ${id} is ended`);
      onEnded();
    });
  return (
    <Dialog title={`Session ${id}`} onClose={onClose}>
      <p>
        The client at <code>{visible(address)}</code>, connected to <code>{visible(member)}</code>.
      </p>
      <h3>Ephemeral nodes</h3>
      <Paths paths={ephemerals} isCut={false} />
      <h3>Watched paths{watched !== undefined && watched.total > 0 && `: ${watched.total.toLocaleString()}`}</h3>
      <Notes notes={watched?.notes} class="hint" />
      {watched === undefined ? (
        error === undefined && <p class="hint">Asking the members…</p>
      ) : (
        <>
          <Paths paths={watched.paths} isCut={watched.isCut} />
          {watched.total > SHOWN_MAX && (
            <div class="toolbar">
              <Button
                text="Earlier paths"
                disabled={from === 0}
                onClick={() => setFrom(Math.max(0, from - SHOWN_MAX))}
              />
              <span class="hint" role="status">
                {(from + 1).toLocaleString()} to {(from + watched.paths.length).toLocaleString()}
              </span>
              <Button
                text="Further paths"
                disabled={from + watched.paths.length >= watched.total}
                onClick={() => setFrom(from + SHOWN_MAX)}
              />
            </div>
          )}
        </>
      )}
      <Failure text={error} />
      {isEnding && (
        <Banner kind="warning" role="alert">
          Its ephemeral nodes are deleted at once: locks that it holds are free, while its client may still work. The
          client is disconnected, and its session does not come back.
        </Banner>
      )}
      <Failure text={action.error} />
      <footer>
        <Button text={isEnding ? "Cancel" : "Close"} onClick={onClose} />
        <Button
          text={isEnding ? `End ${id}` : "End the session"}
          class={`danger ${isEnding ? "filled" : ""}`}
          onClick={isEnding ? end : () => setEnding(true)}
        />
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
          <NodeLink path={path} />
        </li>
      ))}
      {(isCut || paths.length > SHOWN_MAX) && <li class="hint">There are more.</li>}
    </ul>
  );
}
