import { useState } from "preact/hooks";
import { api } from "../model/api.ts";
import { basket, type CreateMode } from "../model/basket.ts";
import { visible } from "../model/formats.ts";
import { childOf } from "../model/place.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failure } from "../parts/failure.tsx";
import { SelectField, TextField } from "../parts/fields.tsx";
import { useNotify } from "../parts/notices.tsx";
import { useAction } from "../parts/use-action.ts";

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
  const [mode, setMode] = useState<(typeof MODES)[number]["id"]>("persistent");
  const [ttlSeconds, setTtlSeconds] = useState("60");
  const action = useAction();
  const notify = useNotify();
  const submit = (event: Event): void => {
    event.preventDefault();
    const path = childOf(parent, name);
    const life = mode === "ttl" ? { mode, ttlMs: Math.round(Number(ttlSeconds) * 1000) } : { mode };
    action.run(async () => {
      const made = await api.create({ path, data: { text: data }, parents: name.includes("/"), ...life });
      notify(`Created ${visible(made.path)}`);
      onDone(made.path);
    });
  };
  const gather = (): void =>
    action.run(async () => {
      const path = childOf(parent, name);
      basket.add({ op: "create", path, mode: mode as CreateMode, data: { text: data }, before: "" });
      notify(`The transaction creates ${visible(path)}`);
      onClose();
    });
  return (
    <Dialog title="New node" onClose={onClose}>
      <form onSubmit={submit}>
        <p class="hint">
          Below <code>{visible(parent)}</code>. A name with slashes creates the nodes between, too.
        </p>
        <TextField
          label="Name"
          required={mode !== "persistent-sequential"}
          spellcheck={false}
          autoComplete="off"
          value={name}
          onText={setName}
        />
        <label>
          Data
          <textarea rows={5} spellcheck={false} value={data} onInput={(event) => setData(event.currentTarget.value)} />
        </label>
        <SelectField label="Kind" value={mode} options={MODES} onChange={setMode} />
        {mode === "ttl" && (
          <TextField
            label="Seconds to live without children and changes"
            type="number"
            min="0.001"
            step="any"
            required
            value={ttlSeconds}
            onText={setTtlSeconds}
          />
        )}
        <Failure text={action.error} />
        <footer>
          <Button text="Cancel" onClick={onClose} />
          {mode !== "ttl" && (
            <Button
              text="Add to the transaction"
              disabled={name === "" && mode !== "persistent-sequential"}
              onClick={gather}
            />
          )}
          <Button text="Create" type="submit" class="primary" />
        </footer>
      </form>
    </Dialog>
  );
}
