import { useCallback, useState } from "preact/hooks";
import type { MemberChangeJson, MemberPlanJson } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { visible } from "../model/formats.ts";
import { Button } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useNotify } from "../parts/notices.tsx";
import { useAction } from "../parts/use-action.ts";
import { usePolled } from "../parts/use-polled.ts";

const POLL_MS = 2_000;
const ICONS = { passed: "check", failed: "close", notice: "warning" } as const;
const WORDS = { passed: "Passed: ", failed: "Failed: ", notice: "Notice: " } as const;

interface MemberCheckProps {
  readonly change: MemberChangeJson;
  readonly onBack: () => void;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** A dry run that is repeated, and the change, one step at a time. */
export function MemberCheck({ change, onBack, onChanged, onClose }: MemberCheckProps) {
  const read = useCallback(() => api.checkMembers(change), [change]);
  const { value: plan, error, reload } = usePolled(read, POLL_MS);
  const { isBusy, error: failure, run } = useAction();
  const [doneCount, setDoneCount] = useState(0);
  const notify = useNotify();
  const make = (): void => {
    if (plan === undefined) return;
    run(async () => {
      const { version, remainingCount } = await api.changeMembers(change, plan.version);
      notify(`The configuration ${version} is committed`);
      onChanged();
      setDoneCount(doneCount + 1);
      if (remainingCount === 0) onClose();
      else reload();
    });
  };
  return (
    <>
      {plan === undefined ? (
        error === undefined && <p class="hint">Asking the servers…</p>
      ) : (
        <Plan plan={plan} doneCount={doneCount} />
      )}
      <Failure text={failure ?? error} />
      <footer>
        <Button text={doneCount === 0 ? "Back" : "Close"} onClick={doneCount === 0 ? onBack : onClose} />
        <Button
          text={
            plan === undefined || plan.steps.length + doneCount === 1
              ? "Make the change"
              : `Make step ${doneCount + 1} of ${plan.steps.length + doneCount}`
          }
          class="danger filled"
          disabled={plan?.mayProceed !== true || error !== undefined || isBusy}
          onClick={make}
        />
      </footer>
    </>
  );
}

function Plan({ plan, doneCount }: { readonly plan: MemberPlanJson; readonly doneCount: number }) {
  const { steps, checks, settings, members, after, mayProceed } = plan;
  return (
    <>
      <p class="hint">Nothing is changed yet. The checks are repeated every two seconds.</p>
      <ol start={doneCount + 1}>
        {steps.map(({ text }) => (
          <li key={text}>{visible(text)}.</li>
        ))}
      </ol>
      <h3>Checks</h3>
      <ul class="plain checks" aria-label="Checks" aria-live="polite">
        {checks.map(({ state, text }) => (
          <li key={text} class={`check-${state}`}>
            <Icon name={ICONS[state]} />
            <span>
              <span class="hidden">{WORDS[state]}</span>
              {visible(text)}.
            </span>
          </li>
        ))}
      </ul>
      {!mayProceed && settings.length > 0 && (
        <>
          <h3>Start the new server with</h3>
          <section class="block" tabIndex={0} aria-label="Settings of the new server">
            <pre>{visible(settings.join("\n"))}</pre>
          </section>
        </>
      )}
      <details>
        <summary>The configuration after the change</summary>
        <pre>{visible(members.join("\n"))}</pre>
      </details>
      {after !== null && <p class="hint">{visible(after)}.</p>}
    </>
  );
}
