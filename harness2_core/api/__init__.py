"""All a plugin imports (with `harness2_core.testing` in its tests): protocols, hooks, values, `executor_engine`.

The plugin API version is the number in the entry-point group `harness2.v1`. To write a plugin: one module that
implements a hook of `hookspecs.py` with `hookimpl`, and an entry point `<kind>.<name> = package.module`.
"""

from harness2_core.model.acceptance import Accepted, Check, Rejected, accept
from harness2_core.model.assignment import Assignment, Ended
from harness2_core.model.bench import BenchSpec, BenchWords, Collected, Task
from harness2_core.model.canonical import Digest, canonical, digest_bytes
from harness2_core.model.channel import NO_MODEL, Channel, Ending, Outcome, Usage
from harness2_core.model.check import decimal_text
from harness2_core.model.errors import (
    ConfigError,
    Damaged,
    Harness2Error,
    InvalidValue,
    Lost,
    PluginError,
    StoreError,
)
from harness2_core.model.events import Happened
from harness2_core.model.frozen import FrozenMap
from harness2_core.model.manifest import Entry, Manifest, blob_entry, decode_manifest
from harness2_core.model.names import file_name, unescape
from harness2_core.model.paths import collisions, unsafe
from harness2_core.model.plan import Plan, Roll, Stage
from harness2_core.model.process import Bridge, Endpoint, Exit, Install, Mount, Place, Policy, Resources
from harness2_core.model.provider import Provider
from harness2_core.model.records import Reply, Rollout, Verdict
from harness2_core.model.replies import choice_in, lesson_in
from harness2_core.model.requests import GradeRequest, RolloutRequest, SessionRequest, request_digest
from harness2_core.model.settings import content, place
from harness2_core.model.strategy import Ask, Ballot, Choice, Dialogue, Edit, Lesson, Round, Unusable, asked, asked_all
from harness2_core.model.surface import Allowed, Surface
from harness2_core.model.surface_rules import front_matter
from harness2_core.model.templates import Templates
from harness2_core.model.trajectory import (
    Action,
    Assistant,
    Event,
    Failure,
    FileChange,
    Observation,
    Reasoning,
    Trajectory,
    Unknown,
    render,
)
from harness2_core.model.tree import HarnessTree, diff

from .adapters import (
    Adapter,
    ChecksTree,
    CollectsOutput,
    HasWords,
    HoldsGrader,
    OrdersDomains,
    OwnsRuntime,
    Preflights,
    RendersViews,
    ShipsStarter,
)
from .context import Context
from .ending import ending_of
from .engine import executor_engine
from .hookspecs import hookimpl
from .judges import Grading, Item, Judge
from .runtime import Call, ChecksChannels, Engine, ModelAccess, Sandbox, Store, TakesMany, TellsFailure, Work
from .sessions import DrivesAgent, Proposer, Said
from .strategies import CountsSessions, Mode, Reflector, Selector, ShipsTemplates
from .substrates import (
    KnowsPrice,
    RemoteAgent,
    SetsUp,
    ShipsBase,
    SpeaksProtocol,
    Substrate,
    TellsLoss,
    TellsOutcome,
    TellsVersion,
    Wire,
)

__all__ = [
    "NO_MODEL",
    "Accepted",
    "Action",
    "Adapter",
    "Allowed",
    "Ask",
    "Assignment",
    "Assistant",
    "Ballot",
    "BenchSpec",
    "BenchWords",
    "Bridge",
    "Call",
    "Channel",
    "Check",
    "ChecksChannels",
    "ChecksTree",
    "Choice",
    "Collected",
    "CollectsOutput",
    "ConfigError",
    "Context",
    "CountsSessions",
    "Damaged",
    "Dialogue",
    "Digest",
    "DrivesAgent",
    "Edit",
    "Ended",
    "Ending",
    "Endpoint",
    "Engine",
    "Entry",
    "Event",
    "Exit",
    "Failure",
    "FileChange",
    "FrozenMap",
    "GradeRequest",
    "Grading",
    "Happened",
    "Harness2Error",
    "HarnessTree",
    "HasWords",
    "HoldsGrader",
    "Install",
    "InvalidValue",
    "Item",
    "Judge",
    "KnowsPrice",
    "Lesson",
    "Lost",
    "Manifest",
    "Mode",
    "ModelAccess",
    "Mount",
    "Observation",
    "OrdersDomains",
    "Outcome",
    "OwnsRuntime",
    "Place",
    "Plan",
    "PluginError",
    "Policy",
    "Preflights",
    "Proposer",
    "Provider",
    "Reasoning",
    "Reflector",
    "Rejected",
    "RemoteAgent",
    "RendersViews",
    "Reply",
    "Resources",
    "Roll",
    "Rollout",
    "RolloutRequest",
    "Round",
    "Said",
    "Sandbox",
    "Selector",
    "SessionRequest",
    "SetsUp",
    "ShipsBase",
    "ShipsStarter",
    "ShipsTemplates",
    "SpeaksProtocol",
    "Stage",
    "Store",
    "StoreError",
    "Substrate",
    "Surface",
    "TakesMany",
    "Task",
    "TellsFailure",
    "TellsLoss",
    "TellsOutcome",
    "TellsVersion",
    "Templates",
    "Trajectory",
    "Unknown",
    "Unusable",
    "Usage",
    "Verdict",
    "Wire",
    "Work",
    "accept",
    "asked",
    "asked_all",
    "blob_entry",
    "canonical",
    "choice_in",
    "collisions",
    "content",
    "decimal_text",
    "decode_manifest",
    "diff",
    "digest_bytes",
    "ending_of",
    "executor_engine",
    "file_name",
    "front_matter",
    "hookimpl",
    "lesson_in",
    "place",
    "render",
    "request_digest",
    "unescape",
    "unsafe",
]
