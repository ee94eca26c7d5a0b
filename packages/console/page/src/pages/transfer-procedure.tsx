import { useState } from "preact/hooks";
import type { MemberJson } from "../../../src/api/shapes.ts";
import { api, textOf } from "../model/api.ts";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useNotify } from "../parts/notices.tsx";

interface TransferProcedureProps {
  readonly members: readonly MemberJson[];
  /** null: the server that suits best. */
  readonly to: number | null;
  readonly onBack: () => void;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/**
 * The leader itself judges whether another server has all data; the ensemble serves on if it
 * refuses.
 */
export function TransferProcedure({ members, to, onBack, onChanged, onClose }: TransferProcedureProps) {
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const notify = useNotify();
  const leader = members.find(({ role }) => role === "leader");
  const target = members.find(({ sid }) => sid === to);
  const isFit = leader !== undefined && (to === null || target?.isReachable === true);
  const transfer = (): void => {
    setBusy(true);
    setError(undefined);
    api
      .transferLeadership(to)
      .then(
        ({ leader: next }) => {
          notify(`Server ${next} leads`);
          onChanged();
          onClose();
        },
        (reason: unknown) => setError(textOf(reason)),
      )
      .finally(() => setBusy(false));
  };
  return (
    <>
      <p>
        {leader === undefined
          ? "No member leads now."
          : `Server ${leader.sid} leads. The leadership goes to ${to === null ? "the server that suits best" : `server ${to}`}.`}
      </p>
      <p class="hint">Writes wait meanwhile, for less than two seconds; sessions and watches stay.</p>
      {!isFit && (
        <p class="banner warning">
          <Icon name="warning" />
          <span>This is not possible now: there is no leader, or the server does not answer.</span>
        </p>
      )}
      <Failure text={error} />
      <footer>
        <button type="button" onClick={onBack}>
          Back
        </button>
        <button type="button" class="danger filled" disabled={!isFit || isBusy} onClick={transfer}>
          Transfer the leadership
        </button>
      </footer>
    </>
  );
}
