import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

/**
 * The keys of the page. Where they are handled: `app.tsx`, `tree.tsx`, `tree-view.tsx`,
 * `data-tab.tsx`, `data-editor.tsx`.
 */
const KEYS: readonly { readonly place: string; readonly keys: readonly (readonly [keys: string, effect: string])[] }[] =
  [
    {
      place: "Everywhere",
      keys: [
        ["Ctrl K", "go to a page or a node, or do something"],
        ["?", "show these keys"],
        ["Esc", "close a dialog"],
      ],
    },
    {
      place: "Tree",
      keys: [
        ["↑ ↓", "the node above, the node below"],
        ["→ ←", "open and close a node; its first child, its parent"],
        ["/", "filter the children"],
        ["n", "create a node below the selected one"],
        ["e", "edit its data"],
      ],
    },
    {
      place: "Editor",
      keys: [
        ["Ctrl Enter, Ctrl S", "review the changes, then save them"],
        ["Esc", "go back; leave the editor if nothing was changed"],
      ],
    },
  ];

export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="keys">
        {KEYS.map(({ place, keys }) => (
          <section key={place} aria-label={place}>
            <h3>{place}</h3>
            <dl>
              {keys.map(([key, effect]) => (
                <div key={key}>
                  <dt>
                    {key.split(", ").map((one) => (
                      <kbd key={one}>{one}</kbd>
                    ))}
                  </dt>
                  <dd>{effect}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <footer>
        <Button text="Close" class="primary" onClick={onClose} />
      </footer>
    </Dialog>
  );
}
