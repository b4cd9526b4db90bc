import { termsOf } from './terms.js';

/**
 * Words of software work that people use interchangeably. A query finds the others of a group with half the weight
 * (docs/recall.md). Groups are deliberately small and plain: a project's own terms are learned from its
 * records.
 */
const GROUPS: readonly string[][] = `
login signin sign-in log-in authentication auth authenticate session-cookie
logout signout sign-out
password passphrase credential secret
token jwt bearer
permission authorization role access privilege acl
user account member customer
admin administrator operator
database db postgres postgresql mysql sqlite mariadb
query sql statement
column field attribute
migration migrate schema-change alter
transaction commit-rollback atomic
deadlock lock contention mutex
cache memoize redis memcached
queue broker kafka rabbitmq nats job-queue
worker consumer job background
cron schedule scheduled nightly timer
retry backoff reattempt again
timeout deadline hang stuck
crash panic abort segfault die
error failure fault exception broken fail
bug defect issue regression
fix repair mend resolve correct patch
slow sluggish latency performance lag
fast quick speed
memory ram heap
leak grow unbounded
disk storage volume filesystem
full exhausted space quota
network connection socket tcp
proxy gateway ingress nginx balancer
dns hostname domain resolver
certificate tls ssl https cert
encrypt cipher encryption
server host machine node instance
container docker image pod
kubernetes k8s cluster
deploy deployment release rollout ship publish
rollback revert undo
build compile bundle
dependency package library module
version upgrade update bump
install setup provision bootstrap
configuration config setting option
environment env variable
test spec check
flaky intermittent unstable unreliable random
mock stub fake
ci pipeline workflow actions
lint linter format formatter style
null undefined nil none missing absent
empty blank
duplicate duplicated twice double repeated
order sort sorting sequence
random seed nondeterministic
time clock date timezone utc
timestamp date time
midnight daylight dst
currency money price amount cents
rounding round precision decimal
payment billing invoice charge stripe
email mail smtp newsletter
notification alert push
webhook callback hook
api endpoint route rest
response reply answer
json payload body
upload file attachment
download export
import ingest load
csv spreadsheet excel
pdf document
image picture photo thumbnail
search find lookup
page pagination cursor offset
delete remove drop erase
create add insert new
rename move
copy clone duplicate
merge combine join
conflict collision clash
branch trunk main
commit revision changeset
tag label
log logging trace
metric monitoring telemetry dashboard
audit history journal ledger
backup snapshot dump
restore recover recovery
corrupt corrupted damaged
validate validation check sanitize
escape quote injection
xss csrf vulnerability security
rate-limit throttle limit 429
discount coupon rebate voucher
concurrency parallel race simultaneous
thread goroutine process
async asynchronous promise await
event message
parse parser
encode encoding utf unicode charset
language locale translation i18n
screen page view
mobile phone ios android
browser chrome safari firefox
css stylesheet layout
render paint draw
theme dark colour color
frontend client ui
backend server api
desktop tauri electron
shell bash terminal
linux debian ubuntu
path folder directory
architecture design structure
decision choice decide
rule invariant constraint must
documentation docs readme
owner responsible
review reviewer approve approval
deprecated obsolete legacy old
temporary temp interim workaround
production prod live
local localhost dev development
feature-flag toggle flag
quota limit
`
  .trim()
  .split('\n')
  .map((line) => line.split(' '));

const termOf = (word: string): string => termsOf(word)[0] ?? word;

/** The other terms of the groups that a term is in. A word contains the start of its stem, so few words need stemming. */
export function synonymsOf(term: string): readonly string[] {
  const start = term.slice(0, 2);
  const found = GROUPS.filter((words) => words.some((word) => word.includes(start) && termOf(word) === term));
  return [...new Set(found.flat().map(termOf))].filter((other) => other !== term);
}
