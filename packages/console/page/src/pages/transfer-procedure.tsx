import type { MemberJson } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { Banner } from "../parts/banner.tsx";
import { Button } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { useNotify } from "../parts/notices.tsx";
import { useAction } from "../parts/use-action.ts";

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
  const { isBusy, error, run } = useAction();
  const notify = useNotify();
  const leader = members.find(({ role }) => role === "leader");
  const target = members.find(({ sid }) => sid === to);
  const isFit = leader !== undefined && (to === null || target?.isReachable === true);
  const transfer = (): void =>
    run(async () => {
      const { leader: next } = await api.transferLeadership(to);
      notify(`Server ${next} leads`);
      onChanged();
      onClose();
    });
  return (
    <>
      <p>
        {leader === undefined
          ? "No member leads now."
          : `Server ${leader.sid} leads. The leadership goes to ${to === null ? "the server that suits best" : `server ${to}`}.`}
      </p>
      <p class="hint">Writes wait meanwhile, for less than two seconds; sessions and watches stay.</p>
      {!isFit && (
        <Banner kind="warning">This is not possible now: there is no leader, or the server does not answer.</Banner>
      )}
      <Failure text={error} />
      <footer>
        <Button text="Back" onClick={onBack} />
        <Button text="Transfer the leadership" class="danger filled" disabled={!isFit || isBusy} onClick={transfer} />
      </footer>
    </>
  );
}
