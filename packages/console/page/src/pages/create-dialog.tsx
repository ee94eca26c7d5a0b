import { useState } from "preact/hooks";
import { api, textOf } from "../model/api.ts";
import { basket, type CreateMode } from "../model/basket.ts";
import { visible } from "../model/formats.ts";
import { childOf } from "../model/place.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Failure } from "../parts/failure.tsx";
import { useNotify } from "../parts/notices.tsx";

const MODES = [
  { id: "persistent", label: "Persistent" },
  { id: "persistent-sequential", label: "Persistent, with a sequence number" },
  { id: "container", label: "Container: removed after its last child" },
  { id: "ttl", label: "With a time to live" },
] as const;

interface CreateDialogProps {
  readonly parent: string;
  readonly onClose: () => void;
  readonly onDone: (path: string) => void;
}

export function CreateDialog({ parent, onClose, onDone }: CreateDialogProps) {
  const [name, setName] = useState("");
  const [data, setData] = useState("");
  const [mode, setMode] = useState<string>("persistent");
  const [ttlSeconds, setTtlSeconds] = useState("60");
  const [error, setError] = useState<string>();
  const notify = useNotify();
  const submit = (event: Event): void => {
    event.preventDefault();
    const path = childOf(parent, name);
    const life = mode === "ttl" ? { mode, ttlMs: Math.round(Number(ttlSeconds) * 1000) } : { mode };
    api.create({ path, data: { text: data }, parents: name.includes("/"), ...life }).then(
      (made) => {
        notify(`Created ${visible(made.path)}`);
        onDone(made.path);
      },
      (reason: unknown) => setError(textOf(reason)),
    );
  };
  const gather = (): void => {
    const path = childOf(parent, name);
    try {
      basket.add({ op: "create", path, mode: mode as CreateMode, data: { text: data }, before: "" });
      notify(`The transaction creates ${visible(path)}`);
      onClose();
    } catch (reason) {
      setError(textOf(reason));
    }
  };
  return (
    <Dialog title="New node" onClose={onClose}>
      <form onSubmit={submit}>
        <p class="hint">
          Below <code>{visible(parent)}</code>. A name with slashes creates the nodes between, too.
        </p>
        <label>
          Name
          <input
            required={mode !== "persistent-sequential"}
            spellcheck={false}
            autoComplete="off"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <label>
          Data
          <textarea rows={5} spellcheck={false} value={data} onInput={(event) => setData(event.currentTarget.value)} />
        </label>
        <label>
          Kind
          <select value={mode} onChange={(event) => setMode(event.currentTarget.value)}>
            {MODES.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {mode === "ttl" && (
          <label>
            Seconds to live without children and changes
            <input
              type="number"
              min="0.001"
              step="any"
              required
              value={ttlSeconds}
              onInput={(event) => setTtlSeconds(event.currentTarget.value)}
            />
          </label>
        )}
        <Failure text={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          {mode !== "ttl" && (
            <button type="button" disabled={name === "" && mode !== "persistent-sequential"} onClick={gather}>
              Add to the transaction
            </button>
          )}
          <button type="submit" class="primary">
            Create
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
