"""A stand-in for Anthropic's Messages API on loopback, with the same protocol, the same refusals, and a simulated
prompt cache."""

from .blocks import text, thinking, tool, web_search
from .faults import Fault
from .record import Recorded
from .replies import Reply
from .server import AnthropicStandIn

__all__ = ["AnthropicStandIn", "Fault", "Recorded", "Reply", "text", "thinking", "tool", "web_search"]
