import { useCallback, useEffect, useState } from "preact/hooks";
import type { ChangeJson, UndoPlanJson } from "../../../src/api/history-shapes.ts";
import type { DataJson } from "../../../src/api/shapes.ts";
import { api, isConflict } from "../model/api.ts";
import { bytesOf, hexDump, timeText, visible } from "../model/formats.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Diff } from "../parts/diff.tsx";
import { Failure } from "../parts/failure.tsx";
import { useNotify } from "../parts/notices.tsx";
import { useAction } from "../parts/use-action.ts";

const STEPS = {
  none: "The node has the same data as before the change.",
  set: "The node gets the data of before the change, as the next version.",
  create: "The node is created again, with its access list of then.",
  delete: "The node was not there before the change: it is deleted.",
  impossible: "It was an ephemeral node, or one with a time to live, which is not made again.",
} as const;
const CHANGED = "The node was changed meanwhile: close this, and look at it again.";

interface UndoDialogProps {
  readonly change: ChangeJson;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Shows how a node differs from its state before a change; undoes it over the version shown. */
export function UndoDialog({ change, onClose, onDone }: UndoDialogProps) {
  const { path, zxid, time } = change;
  const [plan, setPlan] = useState<UndoPlanJson>();
  const action = useAction();
  const notify = useNotify();
  const { run } = action;
  const read = useCallback(
    (reveal: boolean) => run(async () => setPlan(await api.undoPlan(path, zxid, reveal))),
    [path, zxid],
  );
  useEffect(() => read(false), [read]);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (plan === undefined) return;
    action.run(async () => {
      await api.undo(path, zxid, plan.version).catch((reason: unknown) => {
        throw isConflict(reason) ? new Error(CHANGED) : reason;
      });
      notify(`${visible(path)} is as before ${zxid}`);
      onDone();
    });
  };
  const isDoable = plan !== undefined && plan.step !== "none" && plan.step !== "impossible";
  return (
    <Dialog title="Undo a change" onClose={onClose} isWide>
      <form onSubmit={submit}>
        <p>
          The change of {timeText(time)} (<code>{zxid}</code>) to <code>{visible(path)}</code>, and all later ones.
        </p>
        {plan !== undefined && <p>{STEPS[plan.step]}</p>}
        {plan?.isMasked === true ? (
          <p>
            The data is hidden, because the name looks like a secret's.{" "}
            <Button text="Show it" onClick={() => read(true)} />
          </p>
        ) : (
          plan !== undefined &&
          plan.step !== "none" && (
            <Diff before={shownData(plan.now)} after={shownData(plan.before)} label="Difference from now to before" />
          )
        )}
        <Failure text={action.error} />
        <footer>
          <Button text="Cancel" onClick={onClose} />
          <Button text="Undo" type="submit" class="filled" disabled={!isDoable || action.isBusy} />
        </footer>
      </form>
    </Dialog>
  );
}

function shownData(data: DataJson | null): string {
  if (data === null) return "";
  return data.text ?? hexDump(bytesOf(data.base64));
}
