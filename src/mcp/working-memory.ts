/**
 * AGN-024 §6 and §7, each bullet in as few words as keep its sense: it stands in every prompt (KFR-03). Nothing in it is
 * forge's own rule but the last line.
 */
export const WORKING_MEMORY = `Update the session's Working Memory and Known Facts Registry (KFR) using patch-based operations. Use when authoritative working state changes and must be kept explicit for correctness in the next few turns. Updates short-term working memory only; creates no durable memory notes or checkpoints.
Call only when working state changes: a goal or plan is established or revised; an Active Contract becomes relevant; a constraint or invariant is identified; an open question is raised or resolved; KFR content is no longer operationally required; the user signals importance ("this is important", "this is critical", "this is a key insight", or similar). Do not call if nothing changed.
ActiveContract: a binding rule, schema, interface, identifier or process rule to be followed exactly: violating it would fail a tool call, break a required schema or format, break a locked decision or invariant, or cause incompatibility with a consuming system, process or policy. If violating it causes no near-term incorrectness, it is none.
Belongs only if required for correctness in the next few turns: Goal, Plan, ActiveContract, Constraint (invariants too), OpenQuestion. Never: rationale or reasoning history, rejected alternatives, examples or narrative, historical context no longer active.
Replace the plan entirely when it materially changes. Do not duplicate entries. Keep entries short, precise, operational. Keep the KFR to current state: remove what is no longer required.
An item may be in the KFR and in Memory Notes: the KFR copy governs, the note is for recall. Only the injected KFR is authoritative; ignore prior content not in it. If unsure whether an item qualifies, omit it.
Patches are all or nothing. add/replace: kind, text. remove: id. resolve: id, resolution. dismiss, park (ask a human): id, reason. Open questions go only by resolve or dismiss.`;
