import { useState } from "preact/hooks";
import type { NodeJson } from "../../../src/api/shapes.ts";
import { api, isConflict } from "../model/api.ts";
import { basket } from "../model/basket.ts";
import { visible } from "../model/formats.ts";
import { nameOf } from "../model/place.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failure } from "../parts/failure.tsx";
import { useNotify } from "../parts/notices.tsx";
import { useAction } from "../parts/use-action.ts";

interface DeleteDialogProps {
  readonly node: NodeJson;
  readonly onClose: () => void;
  readonly onDone: (deletedCount: number) => void;
}

/** A node with children is deleted with them only after its name was typed. */
export function DeleteDialog({ node, onClose, onDone }: DeleteDialogProps) {
  const { path, stat } = node;
  const [version] = useState(stat.version);
  const [typed, setTyped] = useState("");
  const action = useAction();
  const isRecursive = stat.numChildren > 0;
  const notify = useNotify();
  const submit = (event: Event): void => {
    event.preventDefault();
    action.run(async () => {
      const removed = api.remove(path, { version: isRecursive ? "*" : version, recursive: isRecursive });
      const { deletedCount } = await removed.catch((reason: unknown) => {
        throw isConflict(reason)
          ? new Error("The node was changed meanwhile: close this, and look at it again.")
          : reason;
      });
      onDone(deletedCount);
    });
  };
  const gather = (): void =>
    action.run(async () => {
      basket.add({ op: "delete", path, version, before: node.data?.text ?? "" });
      notify(`The transaction deletes ${visible(path)}`);
      onClose();
    });
  return (
    <Dialog title="Delete" onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          <code>{visible(path)}</code>
          {isRecursive
            ? `, its ${stat.numChildren.toLocaleString()} children and everything below them are deleted in one transaction.`
            : ` is deleted at version ${version}.`}
        </p>
        {isRecursive && (
          <label>
            Type the name of the node, {visible(nameOf(path))}, to confirm
            <input
              spellcheck={false}
              autoComplete="off"
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </label>
        )}
        <Failure text={action.error} />
        <footer>
          <Button text="Cancel" onClick={onClose} />
          {!isRecursive && <Button text="Add to the transaction" onClick={gather} />}
          <Button text="Delete" type="submit" class="danger filled" disabled={isRecursive && typed !== nameOf(path)} />
        </footer>
      </form>
    </Dialog>
  );
}
