"""Tapedeck for Python: recordings of a storage node as numpy arrays, and jobs of its workers.

    import tapedeck
    deck = tapedeck.connect("127.0.0.1:7400", worker="127.0.0.1:7500")
    deck.record("l0/c0", "synth", duration_s=1).wait()
    recording = deck.recording("l0/c0/latest")
    print(recording.samples(1000, 16), recording.time_of(1000))
"""
from tapedeck import errors
from tapedeck.calls import Tls
from tapedeck.client import Client, connect
from tapedeck.datatypes import to_complex
from tapedeck.errors import Error
from tapedeck.jobs import Job, JobState, Note
from tapedeck.recording import Block, Recording
from tapedeck.stream import Stream
from tapedeck.values import (Annotation, Capture, Channel, Lun, Node, Origin, OriginStage, Part, RecordingGroup,
                             RecordingInfo)

__version__ = "0.1.0"
__all__ = ["Annotation", "Block", "Capture", "Channel", "Client", "Error", "Job", "JobState", "Lun", "Node", "Note", "Origin",
           "OriginStage", "Part", "Recording", "RecordingGroup", "RecordingInfo", "Stream", "Tls", "connect", "errors", "to_complex"]
